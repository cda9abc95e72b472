import CoreData
import Foundation
import Testing

/// What a new operator needs and the compiler does not ask for.
@Suite struct PredicateOperatorTests {
    static let operators = (0...1_000).compactMap { NSComparisonPredicate.Operator(rawValue: $0) }
        .filter { $0 != .customSelector }

    @Test(arguments: operators)
    func everyOperatorIsReadAsItIsPrinted(_ type: NSComparisonPredicate.Operator) throws {
        let isOfLists = type == .between || type == .in
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "a"),
            rightExpression: NSExpression(forConstantValue: isOfLists ? ["1", "2"] as [Any] : "1"),
            modifier: .direct, type: type)
        let read = try #require(NSPredicate(format: predicate.predicateFormat) as? NSComparisonPredicate)
        #expect(read.predicateOperatorType == type)
        #expect(read.predicateFormat == predicate.predicateFormat)
    }

    /// The key of a plan keeps a byte of it.
    @Test func thereAreNoOperatorsThatAPlanTakesForOthers() {
        #expect(Self.operators.count == 13)
        #expect(Self.operators.allSatisfy { $0.rawValue <= UInt8.max })
    }
}
