extension EntityShape {
    /// The entity, with its class where that has another name: for messages.
    var subject: String {
        let name = name
        let isPlain = objectClass == NSManagedObject.self || "\(objectClass)" == name
        return isPlain ? name : "\(name) (class \(objectClass))"
    }

    /// ` (did you mean "x"?)` for the property that was probably meant.
    func suggestion(for property: String) -> String {
        Suggestion.text(for: property, among: properties.keys)
    }
}
