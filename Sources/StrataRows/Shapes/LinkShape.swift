/// The hidden entity that keeps a relationship which is to-many at both ends, or has no inverse.
///
/// Slot 0 refers to the owner of the relationship that gave the entity its name, slot 1 to the other end; slots 2 and 3
/// hold the position in either's order.
@usableFromInline
package final class LinkShape {
    @usableFromInline package let index: Int
    package let name: String

    package init(index: Int, name: String) {
        self.index = index
        self.name = name
    }
}
