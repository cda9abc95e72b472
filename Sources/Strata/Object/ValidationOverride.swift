/// Finds out whether a class overrides ``NSManagedObject/validateValue(_:forKey:)``.
///
/// Asking every object about each of its properties by name costs many times what a save costs otherwise, so it is only
/// done for classes that would notice. A class's table of methods has one word for each; the one in question is where a
/// class that overrides nothing but this method differs from NSManagedObject while one that overrides nothing does not.
enum ValidationOverride {
    private class Overriding: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {}
    }

    private class Inheriting: NSManagedObject {}

    /// The method's word in class metadata; nil when the tables are not what they are expected to be.
    private static let word: Int? = {
        let (base, overriding, inheriting) = (
            table(NSManagedObject.self), table(Overriding.self), table(Inheriting.self)
        )
        let count = min(base.count, overriding.count, inheriting.count)
        let found = (0..<count).filter { base[$0] == inheriting[$0] && base[$0] != overriding[$0] }
        return found.count == 1 ? found.first : nil
    }()

    /// True also when it cannot be found out.
    static func overridesValidateValue(_ type: NSManagedObject.Type) -> Bool {
        if type == NSManagedObject.self { return false }
        guard let word else { return true }
        let own = table(type)
        return word >= own.count || own[word] != table(NSManagedObject.self)[word]
    }

    /// The words of a class's metadata, from its address point on.
    private static func table(_ type: AnyClass) -> UnsafeBufferPointer<UInt> {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        // SAFETY: the fifth word of class metadata holds its size and how much of it lies before the address point.
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let before = metadata.load(fromByteOffset: 36, as: UInt32.self)
        guard size > before, size < 1 << 20 else { return UnsafeBufferPointer(start: nil, count: 0) }
        // What comes before the method tables says what the class is, and always differs.
        let count = Int(size - before) / MemoryLayout<UInt>.size
        return UnsafeBufferPointer(start: metadata.assumingMemoryBound(to: UInt.self), count: count)
    }
}
