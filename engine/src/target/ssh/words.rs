//! Encodes words for a remote shell, so that they are data for `printf %b`, never part of a program.

/// Adds a line of which `printf %b` makes the bytes. All bytes but plain ASCII are escaped, so that it is one line
/// whatever they are. There must be no NUL, which no shell can hold.
pub(super) fn push_line(line: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b'\\' | 0..=0x1f | 0x7f.. => line.extend(format!("\\0{byte:03o}").bytes()),
            plain => line.push(*plain),
        }
    }
    line.push(b'\n');
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_every_byte_back() {
        let all: Vec<u8> = (1..=255).collect();
        let texts: [&[u8]; 7] = [
            b"",
            b"plain",
            b" two  blanks ",
            b"line\n\n",
            b"\\0101 \\c \\n %s $(id) `id` '\"",
            b"-n",
            &all,
        ];
        for text in texts {
            let mut line = Vec::new();
            push_line(&mut line, text);
            assert_eq!(
                line.iter().position(|byte| *byte == b'\n'),
                Some(line.len() - 1)
            );
            line.pop();
            let line = String::from_utf8(line).expect("it is ASCII");
            let decode = "IFS= read -r line <<E\n$1\nE\nword=$(printf %bx \"$line\"); printf %s \"${word%x}\"";
            let output = Command::new("sh")
                .args(["-c", decode, "sh", &line])
                .env("LC_ALL", "C")
                .output();
            assert_eq!(output.expect("there is a shell").stdout, text);
        }
    }
}
