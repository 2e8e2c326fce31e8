#if os(Linux)
  /// A call of the system that failed.
  struct SystemFailure: Error, Hashable {
    let call: String
    let code: CInt
  }
#endif
