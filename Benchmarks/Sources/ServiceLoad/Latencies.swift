import Histogram

/// How long requests took, by kind. One for each client; added up when the load has ended.
public struct Latencies: Sendable {
    /// Tenths of a microsecond, with an error of a hundredth at most.
    private typealias Times = Histogram<UInt32>
    private static let unit = 1e-7
    private static let longest = UInt64(600 / unit)

    private var byKind: [Times?]

    public init() {
        byKind = Array(repeating: nil, count: RequestKind.allCases.count)
    }

    public mutating func record(_ kind: RequestKind, seconds: Double) {
        let index = Self.index(kind)
        if byKind[index] == nil { byKind[index] = Self.empty }
        byKind[index]?.record(min(UInt64(seconds / Self.unit), Self.longest))
    }

    public mutating func add(_ other: Latencies) {
        for index in byKind.indices {
            guard let times = other.byKind[index] else { continue }
            if byKind[index] == nil { byKind[index] = Self.empty }
            byKind[index]?.add(times)
        }
    }

    public func count(_ kind: RequestKind? = nil) -> Int {
        Int(times(kind).totalCount)
    }

    /// Milliseconds that so many percent of the requests took at most.
    public func milliseconds(_ percent: Double, of kind: RequestKind? = nil) -> Double {
        Double(times(kind).valueAtPercentile(percent)) * Self.unit * 1e3
    }

    public func longestMilliseconds(of kind: RequestKind? = nil) -> Double {
        Double(times(kind).max) * Self.unit * 1e3
    }

    private func times(_ kind: RequestKind?) -> Times {
        if let kind { return byKind[Self.index(kind)] ?? Self.empty }
        var sum = Self.empty
        for case .some(let times) in byKind { sum.add(times) }
        return sum
    }

    private static var empty: Times {
        Times(highestTrackableValue: longest, numberOfSignificantValueDigits: .two)
    }

    private static func index(_ kind: RequestKind) -> Int {
        switch kind {
        case .point: 0
        case .list: 1
        case .aggregate: 2
        case .tagged: 3
        case .insert: 4
        case .update: 5
        }
    }
}
