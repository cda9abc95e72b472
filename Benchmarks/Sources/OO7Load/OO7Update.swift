/// What T2 and T3 change on their way.
public struct OO7Update: Sendable {
    public enum Field: Sendable {
        /// T2: x and y are swapped.
        case position
        /// T3: the build date, which has an index, becomes one more where it is odd and one less where it is even.
        case buildDate
    }

    public enum Extent: Sendable {
        /// a: the root of each composite part.
        case roots
        /// b: each part.
        case parts
        /// c: each part four times.
        case partsRepeatedly
    }

    public let field: Field
    public let extent: Extent

    public init(_ field: Field, _ extent: Extent) {
        (self.field, self.extent) = (field, extent)
    }

    /// How many times a part is changed when a traversal comes to it.
    public func count(isRoot: Bool) -> Int {
        switch extent {
        case .roots: isRoot ? 1 : 0
        case .parts: 1
        case .partsRepeatedly: OO7.updatesPerPart
        }
    }

    public static func toggled(_ date: Int64) -> Int64 { date % 2 == 0 ? date - 1 : date + 1 }
}
