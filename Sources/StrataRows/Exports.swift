@_exported import Foundation
@_exported public import StrataSchema

// Foundation declares these on Linux, too. A name that this module declares itself is meant before one that it exports.

package typealias NSComparisonPredicate = StrataSchema.NSComparisonPredicate
package typealias NSExpression = StrataSchema.NSExpression
