public import OperationCore

// Without this declaration the compiler says only that the value is not `Codable`, which is no remedy for pages.
extension StatefulOperationRequest {
  /// Not for values that are not `Codable`, such as pages: use ``sharedInFleet(as:version:timeToLive:isPushed:)``.
  @available(
    *,
    unavailable,
    message: """
      a value that is shared in a fleet has to be Codable and Sendable; of a paginated request, share the query of each \
      page, and fetch it in `fetchPage`
      """
  )
  @_disfavoredOverload
  public func sharedInFleet(
    as name: String,
    version: Int = 1,
    timeToLive: Duration = .seconds(60),
    isPushed: Bool = false
  ) -> Self {
    preconditionFailure("Unavailable.")
  }
}
