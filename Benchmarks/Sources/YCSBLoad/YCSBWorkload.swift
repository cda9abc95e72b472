import DataSet

/// What a client may ask.
public enum YCSBKind: String, CaseIterable, Sendable {
    /// All fields of the record with a key.
    case read
    /// Another value for one field, durable.
    case update
    /// A new record, durable.
    case insert
    /// All fields of the next records from a key on, in the order of keys.
    case scan
    /// All fields read, then another value for one, durable, in one transaction.
    case readModifyWrite

    public var writes: Bool { self != .read && self != .scan }
}

/// The core workloads.
public enum YCSBWorkload: String, CaseIterable, Sendable {
    /// Half reads, half updates.
    case a
    /// 95 % reads, 5 % updates.
    case b
    /// Reads.
    case c
    /// 95 % reads of the latest records, 5 % inserts.
    case d
    /// 95 % scans, 5 % inserts.
    case e
    /// Half reads, half read, changed and written.
    case f

    /// What does not change the store comes first.
    public static let order: [YCSBWorkload] = [.c, .b, .a, .f, .e, .d]

    var isOfLatest: Bool { self == .d }
    public var writes: Bool { self != .c }

    func kind(_ random: inout SplitMix64) -> YCSBKind {
        let draw = random.next() % 100
        return switch self {
        case .a: draw < 50 ? .read : .update
        case .b: draw < 95 ? .read : .update
        case .c: .read
        case .d: draw < 95 ? .read : .insert
        case .e: draw < 95 ? .scan : .insert
        case .f: draw < 50 ? .read : .readModifyWrite
        }
    }
}
