import Foundation
import CoreData
public final class Color: NSObject {}
public final class CustomPolyline: NSObject {}
public final class CustomArray: NSObject {}
