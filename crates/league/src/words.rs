/// `1 player`, `2 players`, `3 matches`.
pub(crate) fn counted(number: impl Into<u64>, noun: &str) -> String {
    let number = number.into();
    let ending = match noun {
        _ if number == 1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_noun_agrees_with_its_number() {
        let counts = [(0_u32, "player"), (1, "player"), (2, "match"), (1, "match")];
        let texts = counts.map(|(number, noun)| counted(number, noun));
        assert_eq!(texts, ["0 players", "1 player", "2 matches", "1 match"]);
    }
}
