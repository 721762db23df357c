//! Circles of files: those that name each other, directly or round about (Tarjan's strongly connected components).

use super::resolve::Arrows;
use super::source::FileId;

/// The circles among a number of files, the largest first; each in the order of its files.
pub(crate) fn find(files: usize, arrows: &Arrows) -> Vec<Vec<FileId>> {
    let mut targets = vec![Vec::new(); files];
    for (from, to) in arrows.keys() {
        targets[from.0].push(to.0);
    }
    let mut search = Search {
        targets,
        numbers: vec![None; files],
        lowest: vec![0; files],
        path: Vec::new(),
        is_on_path: vec![false; files],
        next: 0,
        circles: Vec::new(),
    };
    for file in 0..files {
        if search.numbers[file].is_none() {
            search.visit(file);
        }
    }
    search.circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    search.circles
}

struct Search {
    targets: Vec<Vec<usize>>,
    /// In which order the files were met.
    numbers: Vec<Option<usize>>,
    /// The earliest file on the path that can be reached again.
    lowest: Vec<usize>,
    path: Vec<usize>,
    is_on_path: Vec<bool>,
    next: usize,
    circles: Vec<Vec<FileId>>,
}

impl Search {
    fn visit(&mut self, file: usize) {
        let number = self.next;
        self.next += 1;
        self.numbers[file] = Some(number);
        self.lowest[file] = number;
        self.path.push(file);
        self.is_on_path[file] = true;
        for target in self.targets[file].clone() {
            match self.numbers[target] {
                None => {
                    self.visit(target);
                    self.lowest[file] = self.lowest[file].min(self.lowest[target]);
                }
                Some(met) if self.is_on_path[target] => self.lowest[file] = self.lowest[file].min(met),
                Some(_) => {}
            }
        }
        if self.lowest[file] == number {
            let start = self.path.iter().rposition(|other| *other == file).expect("it was pushed above");
            let mut circle = self.path.split_off(start);
            circle.sort_unstable();
            circle.iter().for_each(|member| self.is_on_path[*member] = false);
            if circle.len() > 1 {
                self.circles.push(circle.into_iter().map(FileId).collect());
            }
        }
    }
}
