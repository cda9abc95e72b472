/// The operations that are measured, by the paper's names.
public enum OO7Operation: String, CaseIterable, Sendable {
    case t1, t2a, t2b, t2c, t3a, t3b, t3c, t4, t5, t6, t7, t8, t9
    case q1, q2, q3, q4, q5, q6, q7, q8
    case insert, delete

    /// Whether something is written.
    public var writes: Bool {
        switch self {
        case .t2a, .t2b, .t2c, .t3a, .t3b, .t3c, .t5, .insert, .delete: true
        default: false
        }
    }

    /// How many times it is measured after the first time; the same for every contestant, since each time may change
    /// something.
    var hotRepetitions: Int {
        switch self {
        // T5 and T5 undone are measured in turn.
        case .t1, .t2a, .t2b, .t2c, .t3a, .t3b, .t3c: 3
        case .t4, .t5, .t6, .q3, .q5, .q6, .q7, .q8: 6
        case .t7, .t8, .t9, .q1, .q2, .q4, .insert, .delete: 20
        }
    }
}
