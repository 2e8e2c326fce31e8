@available(*, deprecated, renamed: "OperationCycleError")
public typealias OperationCircleError = OperationCycleError

extension OperationWarning.Code {
  @available(*, deprecated, renamed: "taskCycle")
  public static var taskCircle: Self { .taskCycle }
}

extension StatefulOperationRequest {
  @available(*, deprecated, renamed: "allowsAutomaticRuns")
  public var canRunUnasked: Bool { self.allowsAutomaticRuns }
}
