#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationRequest {
    /// Logs the notices of the runs, such as rejections and timeouts, to the logger of the context.
    ///
    /// The logger is ``OperationCore/OperationContext/operationLogger``. The message is the name of the notice. The
    /// metadata are `operation.notice`, the attributes of the notice, and if they are known `operation.name`,
    /// `operation.path`, `operation.cause`, `operation.task` and `operation.attempt`. Of several of these modifiers, and a client that
    /// logs notices, the innermost one logs a notice.
    ///
    /// - Parameter level: The level to log at.
    /// - Returns: The operation with the logging of notices in its context.
    public func logNotices(at level: Logger.Level = .info) -> ContextModifiedOperation<Self> {
      self.logNotices { _ in level }
    }

    /// Logs the notices of the runs at levels of your choice: see ``logNotices(at:)``.
    ///
    /// - Parameter level: Returns the level for a notice; nil for a notice that is not logged.
    /// - Returns: The operation with the logging of notices in its context.
    public func logNotices(
      _ level: @escaping @Sendable (OperationNotice) -> Logger.Level?
    ) -> ContextModifiedOperation<Self> {
      let log = NoticeLog(level: level)
      return self.context { $0.logNotices(by: log) }.written(".logNotices { … }")
    }
  }

  extension OperationContext {
    /// Logs the notices of all stores created with this context, and those sent with it outside of a run.
    ///
    /// See ``OperationCore/OperationRequest/logNotices(at:)``.
    ///
    /// - Parameter level: The level to log at.
    public mutating func logNotices(at level: Logger.Level = .info) {
      self.logNotices { _ in level }
    }

    /// Logs the notices of all stores created with this context, at levels of your choice.
    ///
    /// See ``OperationCore/OperationRequest/logNotices(at:)``.
    ///
    /// - Parameter level: Returns the level for a notice; nil for a notice that is not logged.
    public mutating func logNotices(_ level: @escaping @Sendable (OperationNotice) -> Logger.Level?) {
      self.logNotices(by: NoticeLog(level: level))
    }

    fileprivate mutating func logNotices(by log: NoticeLog) {
      self.operationNoticeObservers.append(log)
    }
  }

  extension OperationClient {
    /// Logs the notices of all stores that the client creates from now on, and of the client itself.
    ///
    /// Call it once, when you create the client. See ``OperationCore/OperationRequest/logNotices(at:)``.
    ///
    /// - Parameter level: The level to log at.
    public func logNotices(at level: Logger.Level = .info) {
      self.defaultContext.logNotices(at: level)
    }

    /// Logs the notices of all stores that the client creates from now on, at levels of your choice.
    ///
    /// See ``OperationCore/OperationRequest/logNotices(at:)``.
    ///
    /// - Parameter level: Returns the level for a notice; nil for a notice that is not logged.
    public func logNotices(_ level: @escaping @Sendable (OperationNotice) -> Logger.Level?) {
      self.defaultContext.logNotices(level)
    }
  }
#endif
