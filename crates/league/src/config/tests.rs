//! Configurations, written into a temporary home and read again.

mod files;
mod layers;
mod plan;
mod wrong;

use std::fs;
use std::path::Path;

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
        Ok((configured, warnings.iter().map(|warning| self.told(warning)).collect()))
    }

    fn load(&self) -> Configured {
        let (configured, warnings) = self.load_with(&[]).unwrap();
        assert_eq!(warnings, [""; 0]);
        configured
    }

    fn warnings(&self) -> Vec<String> {
        self.load_with(&[]).unwrap().1
    }

    fn error(&self) -> String {
        self.told(&self.load_with(&[]).unwrap_err())
    }

    /// Replaces the path of this home, which differs in every run.
    fn told(&self, message: &impl ToString) -> String {
        let root = self.directory.path().display().to_string();
        message.to_string().replace(&root, "SHARED").replace('\\', "/")
    }
}

fn one(name: &str, text: &str) -> Written {
    assert!(Path::new(name).is_relative());
    Written::new(&[(name, text)])
}
