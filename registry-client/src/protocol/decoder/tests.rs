//! Tests of the decoder of frames.

use proptest::prelude::*;

use super::*;
use crate::protocol::Neighbour;

fn name(text: &str) -> PackageName {
    PackageName::parse(text).expect("a name")
}

fn frames() -> Vec<Frame> {
    let proof = Some(Proof {
        index: 3,
        path: vec![Digest::of(b"a"), Digest::of(b"b")],
    });
    vec![
        Frame::changed(name("a.B"), b"one\ntwo\n".to_vec(), proof.clone()),
        Frame::changed(name("a.C"), "", None),
        Frame::Unchanged {
            name: name("a.D"),
            sha256: Digest::of(b"d"),
            proof,
        },
        Frame::Absent {
            name: name("a.E"),
            beside: vec![Neighbour {
                name: name("a.D"),
                sha256: Digest::of(b"d"),
                index: 3,
                proof: vec![Digest::of(b"a")],
            }],
        },
        Frame::Absent {
            name: name("a.F"),
            beside: Vec::new(),
        },
        Frame::Truncated {
            names: vec![name("a.F")],
        },
        Frame::Complete {
            serial: u64::MAX,
            snapshot: None,
        },
    ]
}

fn encoded(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        frame.encode(&mut bytes);
    }
    bytes
}

fn decode(pieces: &[&[u8]], limits: FrameLimits) -> Result<Vec<Frame>, FrameError> {
    let mut decoder = FrameDecoder::new(limits);
    let mut found = Vec::new();
    for piece in pieces {
        decoder.push(piece.to_vec());
        while let Some(frame) = decoder.next_frame()? {
            found.push(frame);
        }
    }
    decoder.finish()?;
    Ok(found)
}

proptest! {
    #[test]
    fn answers_are_read_in_pieces_of_any_size(cuts in proptest::collection::vec(0_usize..1000, 0..12)) {
        let bytes = encoded(&frames());
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % bytes.len()).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
        prop_assert_eq!(decode(&pieces, FrameLimits::default()), Ok(frames()));
    }

    #[test]
    fn any_input_is_decoded_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&[&bytes], FrameLimits::default());
    }

    #[test]
    fn a_changed_byte_does_not_pass_for_a_document(at in 0_usize..4000, bit in 0_u32..8) {
        let mut bytes = encoded(&frames());
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        // A key that is not known any more is passed over; a document is what was announced.
        for frame in decode(&[&bytes], FrameLimits::default()).unwrap_or_default() {
            if let Frame::Changed { sha256, document, .. } = frame {
                prop_assert_eq!(sha256, Digest::of(&document));
            }
        }
    }
}

#[test]
fn an_answer_that_is_cut_off_anywhere_is_noticed() {
    let bytes = encoded(&frames());
    for end in 0..bytes.len() {
        assert!(decode(&[&bytes[..end]], FrameLimits::default()).is_err());
    }
    let more = [&bytes[..], b"{}\n"].concat();
    assert!(decode(&[&more], FrameLimits::default()).is_err());
    let rest = [&bytes[..], b"x"].concat();
    assert!(decode(&[&rest], FrameLimits::default()).is_err());
}

#[test]
fn answers_have_limits() {
    let bytes = encoded(&frames());
    let limits = FrameLimits::default();
    for limits in [
        FrameLimits {
            header_bytes: 20,
            ..limits
        },
        FrameLimits {
            document_bytes: 7,
            ..limits
        },
        FrameLimits {
            frames: 5,
            ..limits
        },
    ] {
        let error = decode(&[&bytes], limits).expect_err("it is too much");
        assert!(matches!(error, FrameError::Limit { .. }), "{error}");
    }
    // A head without end is rejected before it has arrived.
    let endless = vec![b' '; limits.header_bytes + 1];
    assert!(matches!(
        decode(&[&endless], limits),
        Err(FrameError::Limit { .. })
    ));
}

#[test]
fn truncated_names_fit_into_frames() {
    let longest = |number: usize| name(&format!("a{number:0>254}"));
    let names: Vec<PackageName> = (0..=2 * MAX_BATCH_NAMES).map(longest).collect();
    let frames: Vec<Frame> = Frame::truncated(&names).collect();
    assert_eq!(frames.len(), 3);
    let mut truncated = Vec::new();
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    decoder.push(encoded(&frames));
    while let Some(frame) = decoder.next_frame().expect("it is within the limits") {
        if let Frame::Truncated { names } = frame {
            truncated.extend(names);
        }
    }
    assert_eq!(truncated, names);
    assert_eq!(Frame::truncated(&[]).count(), 0);
}

#[test]
fn malformed_heads_are_rejected() {
    for bad in [
        "{}",
        "[]",
        r#"{"status":"changed","name":"a"}"#,
        r#"{"status":"other","name":"a"}"#,
        r#"{"status":"absent"}"#,
        r#"{"status":"absent","name":"a","length":3}"#,
        r#"{"status":"absent","name":"../a"}"#,
        r#"{"status":"unchanged","name":"a","sha256":"00"}"#,
        r#"{"status":"unchanged","name":"a","index":1}"#,
        r#"{"status":"complete"}"#,
        r#"{"status":"complete","serial":-1}"#,
    ] {
        let line = format!("{bad}\n");
        let read = decode(&[line.as_bytes()], FrameLimits::default());
        assert!(
            matches!(read, Err(FrameError::Malformed(_))),
            "{bad}: {read:?}"
        );
    }
}

#[test]
fn a_document_with_another_digest_is_rejected() {
    let bytes = encoded(&frames());
    let text = String::from_utf8(bytes).expect("the frames are text");
    let other = text.replace("one\n", "0ne\n");
    let error = decode(&[other.as_bytes()], FrameLimits::default());
    assert!(matches!(error, Err(FrameError::Digest { .. })));
}
