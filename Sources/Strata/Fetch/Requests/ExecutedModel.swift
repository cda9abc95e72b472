import Synchronization

/// The model of the context that has executed a request last.
///
/// Requests that nobody changes are executed on many threads at once, so that this is written without a lock and only
/// when it differs.
struct ExecutedModel: ~Copyable, Sendable {
    private let address = Atomic<UInt>(0)

    borrowing func record(_ shapes: ModelShapes?) {
        guard let shapes else { return }
        let new = UInt(bitPattern: Unmanaged.passUnretained(shapes).toOpaque())
        if address.load(ordering: .relaxed) != new { address.store(new, ordering: .releasing) }
    }

    var shapes: ModelShapes? {
        guard let pointer = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return nil }
        // SAFETY: the compiled form of a model that a coordinator has used lives as long as the process.
        return Unmanaged<ModelShapes>.fromOpaque(pointer).takeUnretainedValue()
    }
}
