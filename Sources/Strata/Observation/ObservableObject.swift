#if !Combine
/// An object that says when it is about to change: Combine's protocol, in a form that needs no Combine.
public protocol ObservableObject: AnyObject {
    /// What says it.
    associatedtype ObjectWillChangePublisher = ObservableObjectPublisher
    /// Sends before the object changes.
    var objectWillChange: ObjectWillChangePublisher { get }
}
#endif
