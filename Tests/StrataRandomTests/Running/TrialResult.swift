/// What became of a trial.
enum TrialResult: Equatable {
    case passed(operations: Int)
    case differed(String)
    case stopped(String)
    case hung

    var isFailure: Bool {
        if case .passed = self { false } else { true }
    }

    /// Whether a smaller program fails in the same way.
    func resembles(_ other: TrialResult) -> Bool {
        switch (self, other) {
        case (.differed(let a), .differed(let b)): Self.kind(a) == Self.kind(b)
        case (.stopped, .stopped), (.hung, .hung): true
        default: false
        }
    }

    /// What was done when the difference showed, without numbers.
    private static func kind(_ text: String) -> Substring {
        for part in ["controller", "not there", "is there", "missing", "Code="] where text.contains(part) {
            return Substring(part)
        }
        let words = text.split(separator: " ", maxSplits: 3)
        return words.count > 2 ? words[2] : ""
    }
}

extension TrialResult: CustomStringConvertible {
    var description: String {
        switch self {
        case .passed(let operations): "passed \(operations) operations"
        case .differed(let text): text
        case .stopped(let text): "the program was stopped: \(text)"
        case .hung: "the program did not end"
        }
    }
}
