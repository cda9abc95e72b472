/// What errors are about: objects, identifiers, stores and conflicts, which logs name without their values.
package protocol ErrorSubject {
    /// A name for logs, without values.
    var errorText: String { get }
}
