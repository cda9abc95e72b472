public import Foundation

/// What UIKit and AppKit add to index paths: two indexes name a row, or item, of a section.
extension IndexPath {
    /// The path of a row of a table.
    public init(row: Int, section: Int) {
        self.init(indexes: [section, row])
    }

    /// The path of an item of a collection.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The first index.
    ///
    /// - Precondition: the path has one.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second index.
    ///
    /// - Precondition: the path has two.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The second index.
    ///
    /// - Precondition: the path has two.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
