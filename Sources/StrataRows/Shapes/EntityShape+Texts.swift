extension EntityShape {
    /// The entity, with its class where that has another name: for messages.
    package var subject: String {
        let name = name
        let type = entityClass.type.map { "\($0)" } ?? name
        return type == "NSManagedObject" || type == name ? name : "\(name) (class \(type))"
    }

    /// ` (did you mean "x"?)` for the property that was probably meant.
    package func suggestion(for property: String) -> String {
        Suggestion.text(for: property, among: properties.keys)
    }
}
