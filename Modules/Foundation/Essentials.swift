// The part of Foundation that needs no tables of ICU. Apple's systems have Foundation as one module.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
