//! The second guess, evidence by evidence.

use super::*;

fn after(tried: &[Manner], method: Method, rebuff: &Rebuff) -> Rung<'static> {
    let tried: &'static [Manner] = Vec::leak(tried.to_vec());
    let rebuff: &'static Rebuff = Box::leak(Box::new(rebuff.clone()));
    Rung { tried, method, rebuff, notice: false, proven: false, looked: false, pathless: false, thorough: false }
}

fn first(rebuff: &Rebuff) -> Rung<'static> {
    after(&[Manner::default()], Method::GameInvitation, rebuff)
}

fn said(next: Next) -> String {
    match next {
        Next::Say(manner) => manner.to_string(),
        Next::Look => String::from("look"),
        Next::Unknown => String::from("unknown"),
        Next::Stop => String::from("stop"),
    }
}

#[test]
fn a_complaint_that_names_the_frame_is_believed() {
    for (rebuff, next) in [
        (Rebuff::WantsBare, "D"),
        (Rebuff::WantsMessage, "E"),
        (Rebuff::WantsColon, "A, sender with a colon"),
        (Rebuff::Mcp, "look"),
        (Rebuff::BadArguments, "E"),
        (Rebuff::Nothing, "B"),
        (Rebuff::Other, "stop"),
        (Rebuff::NoSuchPlace, "stop"),
    ] {
        assert_eq!(said(first(&rebuff).next()), next, "{rebuff:?}");
    }
}

#[test]
fn a_path_is_tried_only_where_none_was_named() {
    assert_eq!(said(Rung { pathless: true, ..first(&Rebuff::NoSuchPlace) }.next()), "A at /");
    let both = after(&[Manner::default(), Manner::default().at_root()], Method::ChooseParity, &Rebuff::NoSuchPlace);
    assert_eq!(said(Rung { pathless: true, ..both }.next()), "stop");
}

#[test]
fn an_unknown_name_at_a_peer_that_was_understood_is_another_name() {
    let rung = after(&[Manner::default()], Method::ChooseParity, &Rebuff::UnknownName(None));
    assert_eq!(said(Rung { proven: true, ..rung }.next()), "A, choose_parity as parity_choose");
}

#[test]
fn an_unknown_name_at_an_unknown_peer_is_a_reason_to_look_at_its_tools_and_then_to_guess() {
    let rung = first(&Rebuff::UnknownName(None));
    assert_eq!(rung.next(), Next::Look);
    let looked = Rung { looked: true, ..rung };
    assert_eq!(said(looked.next()), "A, handle_game_invitation as game_invitation");
}

#[test]
fn a_manager_that_does_not_know_a_name_may_go_by_types() {
    let rung = after(&[Manner::default()], Method::RegisterPlayer, &Rebuff::UnknownName(None));
    assert_eq!(said(Rung { looked: true, ..rung }.next()), "B");
}

#[test]
fn a_name_that_the_complaint_mentions_is_taken_at_once() {
    let alias = first(&Rebuff::UnknownName(Some("receive_game_invitation".into())));
    assert_eq!(said(alias.next()), "A, handle_game_invitation as receive_game_invitation");
    let typed = first(&Rebuff::UnknownName(Some("GAME_INVITATION".into())));
    assert_eq!(said(typed.next()), "B");
}

#[test]
fn names_that_are_known_lead_to_names_like_them() {
    let known = Manner::default().calling(Method::GameInvitation, "receive_game_invitation");
    let rung = after(&[known], Method::NotifyMatchResult, &Rebuff::UnknownName(None));
    let next = Rung { proven: true, ..rung }.next();
    assert!(matches!(&next, Next::Say(manner) if manner.name_of(Method::NotifyMatchResult) == "receive_game_over"));
}

#[test]
fn who_registered_by_types_and_listens_by_names_is_found_at_once() {
    let rung = after(&[Manner::from(Frame::Typed)], Method::GameInvitation, &Rebuff::UnknownName(None));
    assert_eq!(said(Rung { looked: true, ..rung }.next()), "A");
}

#[test]
fn tools_are_looked_at_whenever_a_tool_is_not_understood() {
    let tool = Manner::from(Frame::Tool);
    for rebuff in [Rebuff::UnknownName(None), Rebuff::BadArguments, Rebuff::Mcp, Rebuff::WantsMessage] {
        let rung = after(std::slice::from_ref(&tool), Method::ChooseParity, &rebuff);
        assert_eq!(rung.next(), Next::Look, "{rebuff:?}");
        assert_eq!(Rung { proven: true, ..rung }.next(), Next::Look, "{rebuff:?}");
    }
}

#[test]
fn no_form_is_tried_twice_and_the_ladder_ends() {
    for rebuff in [Rebuff::UnknownName(None), Rebuff::Nothing, Rebuff::BadArguments, Rebuff::WantsRpc, Rebuff::Mcp] {
        let mut tried = vec![Manner::default()];
        while let Next::Say(manner) = (Rung { looked: true, ..after(&tried, Method::GameInvitation, &rebuff) }).next() {
            assert!(!tried.contains(&manner));
            tried.push(manner);
        }
        assert!(tried.len() <= 8, "{rebuff:?}: {}", tried.len());
    }
}

#[test]
fn a_notice_is_tried_under_one_other_name_and_then_never_again() {
    let unknown = Rebuff::UnknownName(None);
    let notice = |tried: &[Manner], method| Rung { notice: true, ..after(tried, method, &unknown) }.next();
    for (manner, method, name) in [
        (Manner::default(), Method::NotifyRound, "announce_round"),
        (Manner::default(), Method::NotifyRoundCompleted, "ROUND_COMPLETED"),
        (Manner::from(Frame::Typed), Method::NotifyRound, "notify_round"),
        (Manner::from(Frame::Typed), Method::NotifyRoundCompleted, "notify_round_completed"),
    ] {
        let Next::Say(other) = notice(std::slice::from_ref(&manner), method) else { panic!("{name} is not tried") };
        assert_eq!((other.name_of(method), other.frame()), (name, manner.frame()));
        assert_eq!(notice(&[manner, other], method), Next::Unknown);
    }
}

#[test]
fn nothing_bold_is_concluded_from_a_notice() {
    for (rebuff, next) in [
        (Rebuff::Nothing, "stop"),
        (Rebuff::BadArguments, "stop"),
        (Rebuff::Other, "stop"),
        (Rebuff::Mcp, "look"),
        (Rebuff::WantsBare, "D"),
        (Rebuff::WantsColon, "A, sender with a colon"),
    ] {
        let rung = after(&[Manner::default()], Method::NotifyRound, &rebuff);
        assert_eq!(said(Rung { notice: true, ..rung }.next()), next, "{rebuff:?}");
    }
}

#[test]
fn a_thorough_search_tries_every_frame_whatever_comes_back() {
    for rebuff in [Rebuff::Other, Rebuff::Nothing, Rebuff::NoSuchPlace, Rebuff::WantsBare, Rebuff::UnknownName(None)] {
        let (mut tried, mut looked) = (vec![Manner::default()], false);
        loop {
            let rung = after(&tried, Method::RegisterPlayer, &rebuff);
            match (Rung { thorough: true, looked, ..rung }).next() {
                Next::Say(manner) => tried.push(manner),
                Next::Look => looked = true,
                Next::Unknown | Next::Stop => break,
            }
        }
        for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
            assert!(tried.iter().any(|manner| manner.frame() == frame), "{rebuff:?}: {frame} was not tried");
        }
        assert!(looked, "{rebuff:?}: the tools were not asked for");
        let alias = |manner: &Manner| manner.name_of(Method::RegisterPlayer) == "league_register";
        assert!(tried.iter().any(alias), "{rebuff:?}: the other name was not tried");
        assert!(tried.len() <= 20, "{rebuff:?}: {} forms", tried.len());
    }
}
