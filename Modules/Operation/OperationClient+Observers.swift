public import OperationActivityObserving
public import OperationCore
public import OperationNetworkObserving

extension OperationClient {
  /// What clients learn from that the network is back, unless they are told to use something else.
  ///
  /// On Linux it is the observer of the kernel's network that the process shares; under a test runner, and on other
  /// systems, there is none.
  public static var defaultNetworkObserver: (any NetworkObserver & Sendable)? {
    #if os(Linux)
      if !TestRunner.isRunning { return NetlinkNetworkObserver.startingShared() }
    #endif
    return nil
  }

  /// What clients learn from that the process goes on after a stop, unless they are told to use something else.
  ///
  /// On Linux it is one observer for the process, which takes the signal `SIGCONT` and leaves its effect; under a test
  /// runner, and on other systems, there is none.
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
