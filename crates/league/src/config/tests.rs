//! Configurations, written into a temporary home and read again.

mod files;
mod layers;
mod plan;
mod wrong;

use std::fs;

use league_store::home::Home;
use tempfile::TempDir;

use super::Configured;
use super::error::ConfigError;

struct Written {
    directory: TempDir,
}

impl Written {
    fn new(files: &[(&str, &str)]) -> Self {
        let written = Self { directory: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            let path = written.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        written
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join("config").join(name)
    }

    fn load_with(&self, environment: &[(&str, &str)]) -> Result<(Configured, Vec<String>), ConfigError> {
        let lookup = |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, text)| String::from(*text));
        let (configured, warnings) = Configured::load(&Home::at(self.directory.path()), None, lookup)?;
        Ok((configured, warnings.iter().map(|warning| self.without_path(warning)).collect()))
    }

    fn load(&self) -> Configured {
        let (configured, warnings) = self.load_with(&[]).unwrap();
        assert_eq!(warnings, [""; 0]);
        configured
    }

    fn error(&self) -> String {
        self.without_path(&self.load_with(&[]).unwrap_err())
    }

    /// Replaces the path of this home, which differs in every run.
    fn without_path(&self, message: &impl ToString) -> String {
        let root = self.directory.path().display().to_string();
        message.to_string().replace(&root, "SHARED").replace('\\', "/")
    }
}

fn with_file(name: &str, text: &str) -> Written {
    Written::new(&[(name, text)])
}
