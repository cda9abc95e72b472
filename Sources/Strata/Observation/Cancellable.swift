#if !Combine
/// Something that can be cancelled: Combine's protocol, in a form that needs no Combine.
public protocol Cancellable {
    /// Ends it. Does nothing the second time.
    func cancel()
}

extension Cancellable {
    /// Keeps this in a set, so that it goes with it.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(AnyCancellable(self)) }

    /// Keeps this in a collection, so that it goes with it.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(AnyCancellable(self))
    }
}
#endif
