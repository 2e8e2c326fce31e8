public import OperationActivityObserving
public import OperationCore
public import OperationNetworkObserving

extension OperationClient {
  /// The default observer of the network, which notifies clients when the network is back.
  ///
  /// On Linux it is the observer of the kernel's network state, shared by the process. It is nil under a test runner
  /// and on other systems.
  public static var defaultNetworkObserver: (any NetworkObserver & Sendable)? {
    #if os(Linux)
      if !TestRunner.isRunning { return NetlinkNetworkObserver.startingShared() }
    #endif
    return nil
  }

  /// The default observer of activity, which notifies clients when the process continues after a stop.
  ///
  /// On Linux it is one observer for the process, which handles the signal `SIGCONT` and keeps its effect. It is nil
  /// under a test runner and on other systems.
  public static var defaultActivityObserver: (any ApplicationActivityObserver & Sendable)? {
    #if os(Linux)
      if !TestRunner.isRunning { return self.sharedActivityObserver }
    #endif
    return nil
  }

  #if os(Linux)
    private static let sharedActivityObserver = SignalActivityObserver()
  #endif
}
