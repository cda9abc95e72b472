import Foundation
import StrataBrowsing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads lines from a terminal, with the keys that people know from shells.
///
/// The terminal is as it was whenever no line is being read.
final class LineEditor {
    /// Earlier lines, the newest last.
    var history: [String] = []
    /// The candidates for the end of a text, and how many characters of them are there.
    var complete: (String) -> (candidates: [String], typed: Int) = { _ in ([], 0) }

    private let prompt: String
    private let terminal = Terminal.output
    private var line: [Character] = []
    private var cursor = 0
    /// The line of the history that is shown; its count for the one that is new.
    private var place = 0
    private var unfinished: [Character] = []
    private var pending: [UInt8] = []

    /// How reading a line ends.
    enum Outcome {
        case line(String)
        /// Control-C: the line is given up.
        case interrupted
        case end
    }

    init(prompt: String) {
        self.prompt = prompt
    }

    func nextLine() -> Outcome {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return .end }
        var raw = before
        cfmakeraw(&raw)
        // Results that are still being written come out as they should.
        raw.c_oflag = before.c_oflag
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        defer {
            tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
            terminal.write("\n")
            terminal.flush()
        }
        (line, cursor, place, unfinished) = ([], 0, history.count, [])
        draw()
        while let key = nextKey() {
            switch key {
            case .character("\r"), .character("\n"): return .line(String(line))
            case .control("C"): return .interrupted
            case .control("D") where line.isEmpty: return .end
            case .character("\t"), .control("I"): completeWord()
            default: edit(key)
            }
            draw()
        }
        return .end
    }

    // MARK: Keys

    private enum Key: Equatable {
        case character(Character)
        case control(Character)
        case left, right, up, down, home, end, delete, backspace, unknown
    }

    private func nextByte() -> UInt8? {
        if !pending.isEmpty { return pending.removeFirst() }
        var byte = 0 as UInt8
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }

    private func nextKey() -> Key? {
        guard let byte = nextByte() else { return nil }
        switch byte {
        case 0x0D, 0x0A: return .character("\n")
        case 0x09: return .character("\t")
        case 0x08, 0x7F: return .backspace
        case 0x1B: return escape()
        case 0x01...0x1A: return .control(Character(Unicode.Scalar(byte + 0x40)))
        case 0x00...0x1F: return .unknown
        case 0x20..<0x80: return .character(Character(Unicode.Scalar(byte)))
        default:
            var bytes = [byte]
            let count = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            while bytes.count < count, let next = nextByte() { bytes.append(next) }
            return String(decoding: bytes, as: UTF8.self).first.map { .character($0) } ?? .unknown
        }
    }

    private func escape() -> Key? {
        guard let first = nextByte() else { return nil }
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else { return .unknown }
        var digits = ""
        while let byte = nextByte() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ";"):
                digits.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            case UInt8(ascii: "C"): return .right
            case UInt8(ascii: "D"): return .left
            case UInt8(ascii: "H"): return .home
            case UInt8(ascii: "F"): return .end
            case UInt8(ascii: "~"):
                return switch digits {
                case "1", "7": .home
                case "4", "8": .end
                case "3": .delete
                default: .unknown
                }
            default: return .unknown
            }
        }
        return nil
    }

    // MARK: Editing

    private func edit(_ key: Key) {
        switch key {
        case .character(let character):
            line.insert(character, at: cursor)
            cursor += 1
        case .left, .control("B"): cursor = max(0, cursor - 1)
        case .right, .control("F"): cursor = min(line.count, cursor + 1)
        case .home, .control("A"): cursor = 0
        case .end, .control("E"): cursor = line.count
        case .up, .control("P"): show(place - 1)
        case .down, .control("N"): show(place + 1)
        case .backspace where cursor > 0:
            cursor -= 1
            line.remove(at: cursor)
        case .delete where cursor < line.count, .control("D") where cursor < line.count: line.remove(at: cursor)
        case .control("K"): line.removeSubrange(cursor...)
        case .control("U"):
            line.removeSubrange(..<cursor)
            cursor = 0
        case .control("W"):
            let start =
                line[..<cursor].lastIndex { !$0.isWhitespace }
                .flatMap { line[...$0].lastIndex(where: \.isWhitespace) }.map { $0 + 1 } ?? 0
            line.removeSubrange(start..<cursor)
            cursor = start
        case .control("L"): terminal.write("\u{1B}[H\u{1B}[2J")
        default: break
        }
    }

    private func show(_ index: Int) {
        guard (0...history.count).contains(index) else { return }
        if place == history.count { unfinished = line }
        place = index
        line = index == history.count ? unfinished : Array(history[index])
        cursor = line.count
    }

    private func completeWord() {
        let (candidates, typed) = complete(String(line[..<cursor]))
        guard let first = candidates.first else { return }
        let common = candidates.reduce(first) { $0.commonPrefix(with: $1) }
        let added = Array(common.dropFirst(typed)) + (candidates.count == 1 ? [" "] : [])
        if added.isEmpty {
            terminal.write("\r\n" + candidates.joined(separator: "  ") + "\r\n")
        }
        line.insert(contentsOf: added, at: cursor)
        cursor += added.count
    }

    /// Writes the line anew, or as much of it around the cursor as fits.
    private func draw() {
        let width = max(20, (terminal.columnCount ?? 80) - prompt.count - 1)
        var start = 0
        while line[start..<cursor].reduce(0, { $0 + DisplayWidth.of($1) }) >= width { start += 1 }
        var end = start
        var taken = 0
        while end < line.count, taken + DisplayWidth.of(line[end]) <= width {
            taken += DisplayWidth.of(line[end])
            end += 1
        }
        let behind = line[cursor..<max(cursor, end)].reduce(0) { $0 + DisplayWidth.of($1) }
        terminal.write("\r" + terminal.bold(prompt) + Cell.visible(String(line[start..<end])) + "\u{1B}[K")
        if behind > 0 { terminal.write("\u{1B}[\(behind)D") }
        terminal.flush()
    }
}
