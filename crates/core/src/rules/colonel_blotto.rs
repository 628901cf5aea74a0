//! Colonel Blotto: each side spreads ten soldiers over three fields, both at once.

use std::cmp::Ordering;
use std::sync::LazyLock;

use league_protocol::message::game_view::{GameView, ViewValue};
use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, format_smolstr};

use super::game::{About, Game, GameStage, GameVerdict, IllegalMove, check_turn};

const SOLDIERS: u8 = 10;

const RULES: &str = "\
Each player has **10 soldiers** and sends them to **three fields**, both players at the same time: every soldier goes to one field,
and a field may stay empty. The player with more soldiers on a field takes it; with equally many neither does. Who takes more
fields wins, and equally many are a draw.
";

type Fields = [u8; 3];

#[derive(Clone, Debug, Default)]
pub struct ColonelBlotto {
    sent: Pair<Option<Fields>>,
}

/// All 66 ways to spread the soldiers, and how they are written.
static SPREADS: LazyLock<Vec<(Fields, SmolStr)>> = LazyLock::new(|| {
    let firsts = 0..=SOLDIERS;
    let spreads =
        firsts.flat_map(|first| (0..=SOLDIERS - first).map(move |second| [first, second, SOLDIERS - first - second]));
    spreads.map(|spread| (spread, written(spread))).collect()
});

fn written(fields: Fields) -> SmolStr {
    let [first, second, third] = fields;
    format_smolstr!("{first}-{second}-{third}")
}

fn taken(sent: Pair<Fields>) -> Pair<usize> {
    Pair::from_fn(|side| (0..3).filter(|field| sent[side][*field] > sent[side.other()][*field]).count())
}

impl ColonelBlotto {
    fn spread(&self, side: Side, text: &str) -> Result<Fields, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let spread = SPREADS.iter().find(|(_, written)| written == text);
        spread
            .map(|(spread, _)| *spread)
            .ok_or_else(|| IllegalMove::new(text, "send three numbers that add up to 10, such as 3-4-3"))
    }

    fn both(&self) -> Option<Pair<Fields>> {
        Some(Pair::new(self.sent.a?, self.sent.b?))
    }
}

impl Game for ColonelBlotto {
    fn about(&self) -> About {
        About {
            name: "Colonel Blotto",
            rules: RULES,
            moves: "three numbers that add up to 10, joined by hyphens: `3-4-3`",
            max_turns: 1,
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        let Some(sent) = self.both() else {
            return GameStage::Moves(self.sent.map(|sent| sent.is_none()));
        };
        let taken = taken(sent);
        GameStage::Over(match taken.a.cmp(&taken.b) {
            Ordering::Greater => GameVerdict::Win(Side::A),
            Ordering::Less => GameVerdict::Win(Side::B),
            Ordering::Equal => GameVerdict::Draw,
        })
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.spread(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.sent[side] = Some(self.spread(side, text)?);
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        SPREADS.iter().filter(|_| self.sent[side].is_none()).map(|(_, written)| written.clone()).collect()
    }

    /// Empty until both have sent their soldiers, then such as `3-4-3 5-5-0`: own ones first.
    fn view(&self, side: Side) -> SmolStr {
        self.both()
            .map(|sent| format_smolstr!("{} {}", written(sent[side]), written(sent[side.other()])))
            .unwrap_or_default()
    }

    fn fields(&self, side: Side) -> GameView {
        let of = |side: Side| self.both().map(|sent| sent[side].map(u32::from).into_iter().collect::<ViewValue>());
        GameView::default()
            .with("soldiers", u32::from(SOLDIERS))
            .with("you", of(side))
            .with("opponent", of(side.other()))
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let Some(sent) = self.both() else {
            return String::from("the soldiers are not all on the fields yet");
        };
        let taken = taken(sent);
        let (a, b) = (written(sent.a), written(sent.b));
        format!("{} sent {a} and takes {}, {} sent {b} and takes {}", names.a, taken.a, names.b, taken.b)
    }
}
