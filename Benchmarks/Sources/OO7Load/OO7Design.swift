import DataSet

/// One module of OO7. Everything is a function of its number alone, so that every contestant holds the same.
public struct OO7Design: Sendable {
    public let size: OO7Size

    public init(_ size: OO7Size) {
        self.size = size
    }

    // MARK: Assemblies

    /// The numbers of the complex assemblies; 1 is the root of the design.
    public static let complexAssemblies: ClosedRange<Int64> = 1...assemblyCount(OO7.assemblyLevels - 1)
    /// The numbers of the base assemblies.
    public static let baseAssemblies = (complexAssemblies.upperBound + 1)...assemblyCount(OO7.assemblyLevels)

    private static func assemblyCount(_ levels: Int) -> Int64 {
        (0..<levels).reduce(0) { count, _ in count * Int64(OO7.assembliesPerAssembly) + 1 }
    }

    public func assembly(_ id: Int64) -> OO7Assembly {
        var random = Self.random(1, id)
        var components: [Int64] = []
        if Self.baseAssemblies.contains(id) {
            // A set: no composite part is used twice by one assembly.
            while components.count < OO7.compositesPerAssembly {
                let component = Int64.random(in: 1...Int64(OO7.compositeCount), using: &random)
                if !components.contains(component) { components.append(component) }
            }
        }
        return OO7Assembly(
            id: id, type: Self.type(&random), buildDate: Self.date(&random),
            superAssembly: id == 1 ? nil : (id - 2) / Int64(OO7.assembliesPerAssembly) + 1, components: components)
    }

    // MARK: Parts

    /// A composite part with all that belongs to it. Numbers above ``OO7/compositeCount`` are those of insertions.
    public func composite(_ id: Int64) -> OO7Composite {
        var random = Self.random(2, id)
        let isYoung = id % Int64(OO7.youngOneOf) == 0
        let type = Self.type(&random)
        let buildDate = Int64.random(in: isYoung ? 2_000...2_999 : 0...999, using: &random)
        let first = firstPart(of: id)
        let parts = (first..<first + Int64(size.partsPerComposite)).map { part($0, of: id) }
        return OO7Composite(
            id: id, type: type, buildDate: buildDate, title: Self.title(id),
            text: Self.text("I am the documentation for composite part #\(id).\n", size.documentByteCount), parts: parts
        )
    }

    /// The number of the composite part's root part; the others follow.
    func firstPart(of composite: Int64) -> Int64 { (composite - 1) * Int64(size.partsPerComposite) + 1 }

    private func part(_ id: Int64, of composite: Int64) -> OO7Part {
        var random = Self.random(3, id)
        let first = firstPart(of: composite)
        let count = Int64(size.partsPerComposite)
        let type = Self.type(&random)
        let date = Self.date(&random)
        let (x, y) = (Self.position(&random), Self.position(&random))
        let connections = (0..<Int64(OO7.connectionsPerPart)).map { number in
            // The first ones make a ring, so that every part can be reached.
            let target = number == 0 ? (id - first + 1) % count : Int64.random(in: 0..<count, using: &random)
            return OO7Connection(
                id: (id - 1) * Int64(OO7.connectionsPerPart) + number + 1, type: Self.type(&random),
                length: Self.position(&random), target: first + target)
        }
        return OO7Part(
            id: id, type: type, buildDate: date, x: x, y: y, document: composite, connections: connections)
    }

    // MARK: Texts

    /// The title of a composite part's document, which has the part's number.
    public static func title(_ composite: Int64) -> String { "Composite Part \(composite)" }

    public static let manualTitle = "Manual of Module 1"
    public var manualText: String { Self.text("I am the manual for module #1.\n", size.manualByteCount) }

    private static func text(_ line: String, _ byteCount: Int) -> String {
        String(repeating: line, count: byteCount / line.utf8.count)
    }

    // MARK: Draws

    /// The atomic parts that Q1 looks up.
    public func drawParts(_ repetition: Int) -> [Int64] {
        Self.draw(4, repetition, 1...Int64(OO7.compositeCount * size.partsPerComposite), OO7.lookupCount)
    }

    /// The titles that Q4 looks up.
    public func drawTitles(_ repetition: Int) -> [String] {
        Self.draw(5, repetition, 1...Int64(OO7.compositeCount), OO7.lookupCount).map(Self.title)
    }

    /// The composite parts of an insertion.
    public func newComposites(_ repetition: Int) -> ClosedRange<Int64> {
        let first = Int64(OO7.compositeCount + repetition * OO7.newComposites + 1)
        return first...first + Int64(OO7.newComposites) - 1
    }

    /// The base assemblies that use a new composite part.
    public func users(ofNew composite: Int64) -> [Int64] {
        Self.draw(6, Int(composite), Self.baseAssemblies, OO7.usersOfNewComposite)
    }

    /// Different numbers.
    private static func draw(_ kind: UInt64, _ number: Int, _ range: ClosedRange<Int64>, _ count: Int) -> [Int64] {
        var random = random(kind, Int64(number))
        var drawn: [Int64] = []
        while drawn.count < count {
            let next = Int64.random(in: range, using: &random)
            if !drawn.contains(next) { drawn.append(next) }
        }
        return drawn
    }

    private static func random(_ kind: UInt64, _ id: Int64) -> SplitMix64 {
        var seeds = SplitMix64(kind &* 1_000_003 &+ UInt64(id))
        return SplitMix64(seeds.next())
    }

    private static func type(_ random: inout SplitMix64) -> String {
        "type\(Int.random(in: 0..<OO7.typeCount, using: &random))"
    }

    private static func date(_ random: inout SplitMix64) -> Int64 {
        Int64(Int.random(in: OO7.dates, using: &random))
    }

    private static func position(_ random: inout SplitMix64) -> Int64 {
        Int64(Int.random(in: 0..<OO7.positionRange, using: &random))
    }
}
