// Lets files written for Apple's framework compile as they are, with the trait Combine. Without it the module is empty.

#if Combine
@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
#endif
