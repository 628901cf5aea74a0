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
        let told =
            [counted(0_u32, "player"), counted(1_u32, "player"), counted(2_u32, "match"), counted(1_u32, "match")];
        assert_eq!(told, ["0 players", "1 player", "2 matches", "1 match"]);
    }
}
