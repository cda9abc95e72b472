import Testing

@testable import Strata

/// Which transactions a context knows to be its own.
@Suite struct KnownSequencesTests {
    @Test func itsOwnAndEverythingMerged() {
        var known = KnownSequences(merged: 10)
        let own: [UInt64] = [12, 13, 14, 20, 30, 31, 31]
        for sequence in own { known.insert(sequence) }
        for sequence in 0...40 as ClosedRange<UInt64> {
            #expect(known.contains(sequence) == (sequence <= 10 || own.contains(sequence)), "\(sequence)")
        }
    }

    @Test func nothingIsKnownAtFirst() {
        var known = KnownSequences()
        #expect(!known.contains(1))
        known.insert(5)
        #expect(known.contains(5) && !known.contains(4) && !known.contains(6))
    }
}
