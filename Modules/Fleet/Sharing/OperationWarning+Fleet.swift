public import OperationCore

extension OperationWarning.Code {
  /// A value is not shared in a fleet, because its path or its tags have no names there, or it is too large.
  public static let unsharedValue = Self(description: "unsharedValue")

  /// A value of another node cannot be decoded. The node runs the operation itself.
  public static let unreadableFleetValue = Self(description: "unreadableFleetValue")

  /// The backend of a fleet refuses calls, cannot be reached or passes no messages on. The message has the cause.
  public static let unusableFleetBackend = Self(description: "unusableFleetBackend")
}
