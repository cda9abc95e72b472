/// Holds a transformable value in an overlay.
@usableFromInline
final class TransformableBox {
    @usableFromInline let value: Any

    @usableFromInline
    init(_ value: Any) {
        self.value = value
    }
}
