//! A command that the model asks for: only what the developer's settings allow, in the jail, on a shadow of the tree. What
//! it writes is thrown away; what it prints is quoted.

use sandbox::{Jailed, Keep, Limits, Mount, Output};
use task::TreeId;
use task::port::Origin;

use super::looks::Looked;
use crate::site::level;
use crate::{Error, walk::Walk};

/// Bytes of output that are sent.
const SHOWN: usize = 12 * 1024;

impl Walk<'_> {
    pub(crate) fn run_command(&mut self, tree: &TreeId, command: &[String]) -> Result<Looked, Error> {
        let Some((program, arguments)) = command.split_first() else {
            return Ok(Err("the command is empty".to_owned()));
        };
        if !is_allowed(command, &self.state.request.allowed_commands) {
            let shown = task::printable(&command.join(" "));
            return Ok(Err(format!(
                "the developer's settings do not allow `{shown}` (`allow_commands`); the checks of the project can be run by `check`"
            )));
        }
        let limit = self.command_time();
        let cancel = self.house.cancel.clone();
        let sandbox = match &self.house.sandbox {
            Ok(sandbox) => sandbox.clone(),
            Err(reason) => return Ok(Err(format!("there is no sandbox to run it in: {reason}"))),
        };
        self.settle()?;
        let site = self.site_on(tree)?;
        let mut jailed = Jailed::new(program, site.slot.shadow()).args(arguments.iter().map(String::as_str));
        jailed.mounts.push(Mount::writable(site.slot.shadow()));
        jailed.mounts.push(Mount::writable(site.slot.work()));
        jailed.limits = Limits::within(limit);
        (jailed.stdout, jailed.stderr) = (Output::Captured(Keep::all()), Output::Captured(Keep::all()));
        // Without a Rust toolchain the command still runs; it may not need one.
        if let Ok(place) = &site.place {
            let tools = checks::Tools::new(&place.toolchain, &place.cargo, level());
            jailed.mounts.extend(tools.mounts);
            jailed.env.extend(tools.env);
        }
        jailed.env.insert("CARGO_TARGET_DIR".into(), site.slot.work().into());
        let finished = sandbox.run(jailed, &cancel);
        let store = std::sync::Arc::clone(&self.store);
        // Whatever it wrote into the shadow goes before anything else looks at it.
        self.site_on(tree)?.slot.restore(&store)?;
        self.ran += 1;
        self.not_cancelled()?;
        let said = format!("{}\n{}", finished.stdout.lossy(), finished.stderr.lossy());
        let quoter = self.desk().quoter.clone();
        let what = format!("output; it ended with: {}", finished.outcome);
        Ok(Ok(quoter.block(Origin::Output, &what, said.trim(), SHOWN)))
    }
}

/// Whether the words of a command begin with those of one that is allowed.
fn is_allowed(command: &[String], allowed: &[String]) -> bool {
    allowed.iter().any(|rule| {
        let words: Vec<&str> = rule.split_whitespace().collect();
        !words.is_empty()
            && command.len() >= words.len()
            && words.iter().zip(command).all(|(word, given)| word == given)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_allowed_by_its_first_words_as_whole_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let allowed = ["npm run build".to_owned(), " ".to_owned()];
        assert!(is_allowed(&words("npm run build -- --fast"), &allowed));
        for command in ["npm run", "npm run buildx", "npm", "sh -c npm"] {
            assert!(!is_allowed(&words(command), &allowed), "{command}");
        }
    }
}
