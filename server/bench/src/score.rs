//! How good a ranking is, against what a real fix changed.

use std::fmt;

/// Share of the wanted within the first so many.
const FIRST: [usize; 4] = [1, 5, 10, 20];

/// Sums over tasks.
#[derive(Debug, Clone, Default)]
pub struct Score {
    tasks: usize,
    within: [f64; FIRST.len()],
    /// Tasks with all of the wanted within the first ten.
    all: usize,
    /// Of the rank of the first that is wanted, the inverse.
    inverse: f64,
}

impl Score {
    pub fn add(&mut self, ranked: &[String], wanted: &[String]) {
        let ranks: Vec<Option<usize>> =
            wanted.iter().map(|wanted| ranked.iter().position(|found| found == wanted)).collect();
        let within = |most: usize| ranks.iter().flatten().filter(|&&rank| rank < most).count();
        self.tasks += 1;
        for (sum, most) in self.within.iter_mut().zip(FIRST) {
            *sum += within(most) as f64 / wanted.len().max(1) as f64;
        }
        self.all += usize::from(within(10) == wanted.len());
        self.inverse += ranks.iter().flatten().min().map_or(0.0, |&rank| 1.0 / (rank as f64 + 1.0));
    }

    /// Share within the first ten, in percent.
    pub fn within_ten(&self) -> f64 {
        100.0 * self.within[2] / self.tasks.max(1) as f64
    }
}

/// Columns of a row: tasks, R@1, R@5, R@10, R@20, Acc@10, MRR.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.tasks.max(1) as f64;
        write!(f, "{}", self.tasks)?;
        for sum in self.within {
            write!(f, " | {:.1}", 100.0 * sum / tasks)?;
        }
        write!(f, " | {:.1} | {:.3}", 100.0 * self.all as f64 / tasks, self.inverse / tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_score_is_the_mean_over_tasks() {
        let mut score = Score::default();
        score.add(&names(&["a", "b", "c"]), &names(&["b", "x"]));
        score.add(&names(&["a"]), &names(&["a"]));
        assert_eq!(score.to_string(), "2 | 50.0 | 75.0 | 75.0 | 75.0 | 50.0 | 0.750");
    }
}
