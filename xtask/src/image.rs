//! `cargo xtask image`: an image for containers in the OCI layout, below `target/image`, without a container engine.
//!
//! It has one layer: the release program, the libraries of this machine that it is linked with, root certificates, and
//! the account that it runs as. The same commit, compiler and libraries give the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::command;
use crate::{Outcome, Repository, dist, files, licenses, say, tools};

/// Of all blobs together, compressed.
const MOST_BYTES: u64 = 12_000_000;
/// With a program that is not optimised across crates and is half as large again, as the checks build it.
const MOST_BYTES_UNOPTIMISED: u64 = 14_000_000;
/// The files in `deploy/` name the image like this, with its tag.
pub(crate) const NAME: &str = "localhost/league";
/// Not a user of the machine, by custom: `nonroot` in other images.
const USER: u32 = 65532;
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
const DOCUMENTS: [&str; 4] = ["README.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/// Root owns everything else, and all may read it.
const PUBLIC: &str = "u=rwX,go=rX";
/// Folders, their modes and their owners.
const FOLDERS: [(&str, &str, u32); 2] = [("data", "0700", USER), ("tmp", "1777", 0)];

pub(crate) struct Image {
    /// An OCI layout with one manifest.
    pub(crate) layout: PathBuf,
    /// The layout as one file, for `podman load` and `docker load`.
    pub(crate) archive: PathBuf,
    pub(crate) tag: String,
}

pub(crate) fn task(repository: &Repository) -> Outcome {
    let image = make(repository, &[])?;
    check(repository, &image)?;
    let archive = image.archive.display();
    say::passed(&format!("load it with `podman load --input {archive}` or `docker load --input {archive}`"));
    Ok(())
}

/// `profile` are variables for cargo.
pub(crate) fn make(repository: &Repository, profile: &[(&str, &str)]) -> Result<Image, String> {
    if !cfg!(target_os = "linux") {
        return Err(String::from("an image is made on Linux: it has the libraries of the machine"));
    }
    let mut build = repository.cargo("build --release --package league");
    build.envs(profile.iter().copied());
    repository.run(build)?;
    let root = repository.target.join("image");
    files::empty(&root)?;
    let staged = root.join("staged");
    fill(repository, &staged)?;
    let tag = dist::version(repository)?;
    let layout = root.join("layout");
    write(repository, &staged, &layout, &tag)?;
    // A second image of the same files shows that nothing depends on the time or on the order of a directory.
    let again = root.join("again");
    write(repository, &staged, &again, &tag)?;
    if files::read(&layout.join("index.json"))? != files::read(&again.join("index.json"))? {
        return Err(String::from("two images of the same files differ"));
    }
    let archive = root.join(format!("league-{tag}-oci.tar"));
    let mut tar = tar(repository, PUBLIC, 0);
    tar.arg("--file").arg(&archive).arg("--directory").arg(&layout).args([
        "blobs",
        "index.json",
        "manifest.json",
        "oci-layout",
    ]);
    repository.run(tar)?;
    let size =
        files::list(&layout.join("blobs/sha256"))?.iter().map(|blob| files::size(blob)).sum::<Result<u64, _>>()?;
    say::begin(&format!("the image has {size} bytes"));
    let most = if profile.is_empty() { MOST_BYTES } else { MOST_BYTES_UNOPTIMISED };
    if size > most {
        return Err(format!("the image has {size} bytes, more than {most}"));
    }
    Ok(Image { layout, archive, tag })
}

fn fill(repository: &Repository, staged: &Path) -> Outcome {
    let program = repository.program("league");
    files::copy(&program, &staged.join("usr/bin/league"))?;
    for library in libraries(repository, &program)? {
        files::copy(&library, &staged.join(library.strip_prefix("/").unwrap_or(&library)))?;
    }
    if !Path::new(CERTIFICATES).exists() {
        return Err(format!("{CERTIFICATES} is missing; an administrator can install it (package ca-certificates)"));
    }
    files::copy(Path::new(CERTIFICATES), &staged.join(&CERTIFICATES[1..]))?;
    files::create(&staged.join("etc"))?;
    let (passwd, group) = (
        format!("root:x:0:0:root:/:/nonexistent\nleague:x:{USER}:{USER}:league:/data:/nonexistent\n"),
        format!("root:x:0:\nleague:x:{USER}:\n"),
    );
    files::write(&staged.join("etc/passwd"), passwd)?;
    files::write(&staged.join("etc/group"), group)?;
    let documents = staged.join("usr/share/doc/league");
    for name in DOCUMENTS {
        files::copy(&repository.root.join(name), &documents.join(name))?;
    }
    let host = repository.output(command("rustc --print host-tuple")).ok_or("rustc does not print its host")?;
    files::write(&documents.join("THIRD-PARTY-LICENSES.txt"), licenses::of_dependencies(repository, &host)?)?;
    for package in ["libc6", "libgcc-s1"] {
        let license = PathBuf::from(format!("/usr/share/doc/{package}/copyright"));
        if license.exists() {
            files::copy(&license, &staged.join(license.strip_prefix("/").unwrap_or(&license)))?;
        }
    }
    FOLDERS.iter().try_for_each(|(folder, ..)| files::create(&staged.join(folder)))
}

/// The dynamic loader and the libraries, from `ldd`: `libc.so.6 => /lib/…/libc.so.6 (0x…)` or `/lib64/ld-… (0x…)`.
fn libraries(repository: &Repository, program: &Path) -> Result<Vec<PathBuf>, String> {
    let mut ldd = Command::new("ldd");
    ldd.arg(program);
    let listed = repository.output(ldd).ok_or("`ldd` does not tell which libraries the program needs")?;
    let found = paths(&listed);
    if found.is_empty() { Err(format!("`ldd` names no libraries: {listed}")) } else { Ok(found) }
}

fn paths(listed: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let named = line.split_once("=>").map_or(line, |(_, path)| path);
        named.split_whitespace().next().filter(|word| word.starts_with('/')).map(PathBuf::from)
    };
    listed.lines().filter_map(path).collect()
}

/// Entries in the order of their names, with the time of the commit.
fn tar(repository: &Repository, mode: &str, owner: u32) -> Command {
    let mut tar = command("tar --sort=name --numeric-owner --format=gnu");
    tar.arg(format!("--mtime=@{}", dist::commit_time(repository)));
    tar.arg(format!("--owner={owner}")).arg(format!("--group={owner}")).arg(format!("--mode={mode}"));
    tar.arg("--append");
    tar
}

fn write(repository: &Repository, staged: &Path, layout: &Path, tag: &str) -> Outcome {
    files::empty(layout)?;
    let blobs = layout.join("blobs/sha256");
    files::create(&blobs)?;
    let layer = layout.join("layer.tar");
    let mut public = tar(repository, PUBLIC, 0);
    public.arg("--file").arg(&layer).arg("--directory").arg(staged);
    let is_public = |name: &String| FOLDERS.iter().all(|(folder, ..)| folder != name);
    public.args(files::list(staged)?.iter().map(|path| files::name(path)).filter(is_public));
    repository.run(public)?;
    for (folder, mode, owner) in FOLDERS {
        let mut own = tar(repository, mode, owner);
        own.arg("--file").arg(&layer).arg("--directory").arg(staged).arg(folder);
        repository.run(own)?;
    }
    let unpacked = dist::checksum(repository, &layer)?;
    let mut gzip = command("gzip -9 --no-name");
    gzip.arg(&layer);
    repository.run(gzip)?;
    let layer = Blob::keep(repository, &blobs, &layout.join("layer.tar.gz"))?;
    let created = dist::commit_date(repository);
    let config = format!(
        "{{\"created\":\"{created}\",\"architecture\":\"{}\",\"os\":\"linux\",\"config\":{{\
         \"User\":\"{USER}:{USER}\",\"ExposedPorts\":{{\"8000/tcp\":{{}}}},\"Volumes\":{{\"/data\":{{}}}},\
         \"Env\":[\"PATH=/usr/bin\",\"SSL_CERT_FILE={CERTIFICATES}\"],\"Entrypoint\":[\"/usr/bin/league\"],\
         \"Cmd\":[\"--help\"],\"WorkingDir\":\"/data\",\"StopSignal\":\"SIGTERM\"}},\
         \"rootfs\":{{\"type\":\"layers\",\"diff_ids\":[\"sha256:{unpacked}\"]}},\
         \"history\":[{{\"created\":\"{created}\",\"created_by\":\"cargo xtask image\"}}]}}",
        architecture()?
    );
    let config = Blob::write(repository, &blobs, layout, &config)?;
    let manifest = format!(
        "{{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\
         \"config\":{},\"layers\":[{}],\
         \"annotations\":{{\"org.opencontainers.image.version\":\"{tag}\",\"org.opencontainers.image.title\":\"league\",\
         \"org.opencontainers.image.licenses\":\"MIT OR Apache-2.0\"}}}}",
        config.descriptor("application/vnd.oci.image.config.v1+json"),
        layer.descriptor("application/vnd.oci.image.layer.v1.tar+gzip")
    );
    let manifest = Blob::write(repository, &blobs, layout, &manifest)?;
    let descriptor = manifest.descriptor("application/vnd.oci.image.manifest.v1+json");
    let named = descriptor.trim_end_matches('}');
    let index = format!(
        "{{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.index.v1+json\",\"manifests\":[{named},\
         \"annotations\":{{\"org.opencontainers.image.ref.name\":\"{tag}\",\"io.containerd.image.name\":\"{NAME}:{tag}\"}}}}]}}"
    );
    files::write(&layout.join("index.json"), index)?;
    // Docker reads this file, unless it stores images by containerd.
    let docker = format!(
        "[{{\"Config\":\"{}\",\"RepoTags\":[\"{NAME}:{tag}\"],\"Layers\":[\"{}\"]}}]",
        config.path(),
        layer.path()
    );
    files::write(&layout.join("manifest.json"), docker)?;
    files::write(&layout.join("oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}")
}

/// By the name that Go gives it.
fn architecture() -> Result<&'static str, String> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => Err(format!("images are made for x86_64 and aarch64, not for {other}")),
    }
}

/// A file of the layout, named by its digest.
struct Blob {
    digest: String,
    size: u64,
}

impl Blob {
    fn keep(repository: &Repository, blobs: &Path, file: &Path) -> Result<Self, String> {
        let (digest, size) = (dist::checksum(repository, file)?, files::size(file)?);
        files::rename(file, &blobs.join(&digest))?;
        Ok(Self { digest, size })
    }

    fn write(repository: &Repository, blobs: &Path, folder: &Path, text: &str) -> Result<Self, String> {
        let file = folder.join("blob.json");
        files::write(&file, text)?;
        Self::keep(repository, blobs, &file)
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }

    fn descriptor(&self, media: &str) -> String {
        format!("{{\"mediaType\":\"{media}\",\"digest\":\"sha256:{}\",\"size\":{}}}", self.digest, self.size)
    }
}

/// Two programs of others read the image, and a league is played in it by its user, who is not root.
pub(crate) fn check(repository: &Repository, image: &Image) -> Outcome {
    tools::skopeo(repository)?;
    tools::umoci(repository)?;
    let named = format!("{}:{}", image.layout.display(), image.tag);
    let mut inspect = command("skopeo inspect --config");
    inspect.arg(format!("oci:{named}"));
    let config = repository.output(inspect).ok_or("skopeo cannot read the image")?;
    if !config.contains(&format!("\"User\": \"{USER}:{USER}\"")) {
        return Err(format!("skopeo does not find the user of the image: {config}"));
    }
    let place = repository.target.join("image/tried");
    files::empty(&place)?;
    // Copies every blob, and compares its digest and size.
    let mut copy = command("skopeo copy --quiet --insecure-policy");
    copy.arg(format!("oci-archive:{}:{}", image.archive.display(), image.tag));
    copy.arg(format!("oci:{}:{}", place.join("copied").display(), image.tag));
    repository.run(copy)?;
    let mut docker = command("skopeo inspect --config");
    docker.arg(format!("docker-archive:{}:{NAME}:{}", image.archive.display(), image.tag));
    if repository.output(docker).as_deref() != Some(&*config) {
        return Err(format!("`docker load` would not find {NAME}:{} in the archive", image.tag));
    }
    if !files::read(&image.layout.join("index.json"))?.contains(&format!("\"{NAME}:{}\"", image.tag)) {
        return Err(format!("`podman load` would not name the image {NAME}:{}", image.tag));
    }
    let is_root = repository.output(command("id -u")).is_some_and(|id| id == "0");
    let bundle = place.join("bundle");
    let mut unpack = command(if is_root { "umoci unpack --image" } else { "umoci unpack --rootless --image" });
    unpack.arg(&named).arg(&bundle);
    repository.run(unpack)?;
    if !is_root {
        say::skipped("no league was played in the image: that needs root, for chroot");
        return Ok(());
    }
    let mut chroot = command(&format!("chroot --userspec={USER}:{USER}"));
    chroot.arg(bundle.join("rootfs")).args(["/usr/bin/league", "run", "--seed", "7", "--port", "0"]);
    chroot.args(["--home", "/data/SHARED"]).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    let table = repository.output(chroot).ok_or("no league can be played in the image")?;
    eprintln!("{table}");
    if ["Points", "P01", "P02", "P03", "P04"].iter().all(|part| table.contains(part)) {
        return Ok(());
    }
    Err(format!("the league in the image ended without a table: {table}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_the_loader_are_found_in_the_output_of_ldd() {
        let listed = "\tlinux-vdso.so.1 (0x00007f49c95e9000)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f49c6b14000)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f49c95eb000)\n\tlibgone.so => not found\n";
        assert_eq!(paths(listed), ["/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from));
        assert!(paths("\tstatically linked\n").is_empty());
    }
}
