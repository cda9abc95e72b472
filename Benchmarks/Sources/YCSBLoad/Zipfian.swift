public import DataSet
import Foundation

/// Numbers below a count of which few come often: the chance of the one of rank r falls with r to the power of 0.99.
///
/// Source: Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, as YCSB uses it.
public struct Zipfian: Sendable {
    private static let theta = 0.99

    private let count: Int
    private let zeta: Double
    private let alpha: Double
    private let eta: Double

    /// - Complexity: O(count)
    public init(_ count: Int) {
        self.count = count
        zeta = (1...count).reduce(0) { $0 + 1 / pow(Double($1), Self.theta) }
        alpha = 1 / (1 - Self.theta)
        let zetaOfTwo = 1 + 1 / pow(2, Self.theta)
        eta = (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - zetaOfTwo / zeta)
    }

    /// From 0, the most frequent one.
    public func rank(_ random: inout SplitMix64) -> Int {
        let uniform = Double(random.next() >> 11) * 0x1p-53
        let scaled = uniform * zeta
        if scaled < 1 { return 0 }
        if scaled < 1 + pow(0.5, Self.theta) { return 1 }
        return min(count - 1, Int(Double(count) * pow(eta * uniform - eta + 1, alpha)))
    }
}
