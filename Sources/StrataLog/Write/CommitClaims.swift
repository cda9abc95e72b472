/// A fact that the versions of rows do not show, such as that two objects are linked, and what a transaction has to do
/// with it.
public struct CommitClaim: Hashable, Sendable {
    /// Names the fact. Two facts with the same name only make a commit be tried again that need not have been.
    public let name: UInt64
    /// Whether the transaction changes the fact. One that does not only relies on it: any number may.
    public let isExclusive: Bool

    /// - Parameters:
    ///   - kind: what sort of fact it is.
    ///   - first: what it is about.
    ///   - second: what else it is about.
    ///   - isExclusive: whether the transaction changes the fact.
    public init(kind: UInt64, _ first: UInt64, _ second: UInt64 = 0, isExclusive: Bool) {
        name = Self.mix(Self.mix(Self.mix(kind) ^ first) ^ second)
        self.isExclusive = isExclusive
    }

    /// SplitMix64's last step.
    private static func mix(_ bits: UInt64) -> UInt64 {
        var bits = bits &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits &>> 31)
    }
}

/// What recent commits have claimed. A transaction that claims something is refused when another one that was committed
/// since the snapshot it went by has claimed the same, unless both only rely on it.
///
/// Used under the writer's lock. In memory only: whoever went by a snapshot of an earlier opening is gone.
struct CommitClaims {
    /// How many names are remembered.
    static let maximumCount = 1 << 16

    /// The last commits, by sequence number, that changed a fact and that relied on it.
    private struct Claimed {
        var changed: UInt64 = 0
        var reliedOn: UInt64 = 0
    }

    private var claimed: [UInt64: Claimed] = [:]
    /// Of those that are being written.
    private var pending: [UInt64: Claimed] = [:]
    /// The claims of commits up to this one have been forgotten.
    private var floor: UInt64 = 0

    /// Whether nothing that the transaction claims has been claimed by others since.
    func admits(_ transaction: WriteTransaction) -> Bool {
        if transaction.claims.isEmpty { return true }
        let basis = transaction.basis
        if basis < floor { return false }
        return transaction.claims.allSatisfy { claim in
            [claimed[claim.name], pending[claim.name]].allSatisfy { other in
                guard let other else { return true }
                return other.changed <= basis && (!claim.isExclusive || other.reliedOn <= basis)
            }
        }
    }

    /// The transaction has been accepted. ``settle(isCommitted:)`` has to follow.
    mutating func note(_ transaction: WriteTransaction, sequence: UInt64) {
        for claim in transaction.claims {
            if claim.isExclusive {
                pending[claim.name, default: Claimed()].changed = sequence
            } else {
                pending[claim.name, default: Claimed()].reliedOn = sequence
            }
        }
    }

    /// What was accepted has been written, or could not be.
    mutating func settle(isCommitted: Bool) {
        if pending.isEmpty { return }
        if isCommitted {
            if claimed.count > Self.maximumCount {
                floor = claimed.values.reduce(floor) { max($0, $1.changed, $1.reliedOn) }
                claimed = [:]
            }
            claimed.merge(pending) {
                Claimed(changed: max($0.changed, $1.changed), reliedOn: max($0.reliedOn, $1.reliedOn))
            }
        }
        pending = [:]
    }
}
