#[derive(chare::Layout)]
#[layout(label(age, name))]
pub struct Person {
    pub name: String,
    pub age: u64,
    pub is_known: bool,
}

#[derive(chare::Layout)]
#[layout(known(is_known))]
pub struct Known {
    pub is_known: bool,
}

fn main() {}
