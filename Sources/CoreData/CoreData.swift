// Lets files written for Apple's framework compile as they are: `import CoreData` brings Strata and Foundation.
@_exported import Strata
