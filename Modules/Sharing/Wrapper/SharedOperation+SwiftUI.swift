#if canImport(SwiftUI)
  public import SwiftUI

  extension SharedOperation: DynamicProperty {}
#endif
