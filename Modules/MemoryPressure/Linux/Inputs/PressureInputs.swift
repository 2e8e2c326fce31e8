#if os(Linux)
  internal import OperationControlGroups
  internal import OperationEventLoop

  /// The open inputs, and the groups that they belong to.
  struct PressureInputs: Sendable {
    var groups: MemoryGroups
    /// The inputs for stalls: of a pressure file, or of the service manager.
    var stalls: [any PressureInput] = []
    /// The source that `stalls` were opened from.
    var source: StallSource?
    var limits: LimitInput?
    /// Whether an input could not be opened because descriptors, memory or buffers had run out.
    var hasShortage = false

    /// Opens the available inputs; nil if the service manager turns watching off.
    ///
    /// - Parameters:
    ///   - paths: The paths to use.
    ///   - obeysServiceManager: Whether to use the variables of the service manager.
    ///   - open: Opens a source of stalls.
    ///   - refused: The sources that are not used, even if they are available.
    ///   - window: The window of the limits.
    ///   - time: The current time.
    init?(
      paths: LinuxMemoryPaths,
      obeysServiceManager: Bool,
      opening open: (StallSource, Duration) throws(SystemFailure) -> [any PressureInput],
      without refused: Set<StallSource>,
      window: Duration,
      at time: Duration
    ) {
      let watch = obeysServiceManager ? ServiceManagerWatch(environment: paths.environment) : .unset
      if watch == .off { return nil }
      self.groups = MemoryGroups(paths: paths)
      var sources: [StallSource] = []
      if case .path(let path, let bytes) = watch { sources.append(.serviceManager(path: path, writing: bytes)) }
      if let group = self.groups.unified?.own { sources.append(.file(group + "/memory.pressure")) }
      sources.append(.file(paths.procRoot + "/pressure/memory"))
      for source in sources where self.stalls.isEmpty && !refused.contains(source) {
        do throws(SystemFailure) {
          self.stalls = try open(source, time)
          self.source = source
        } catch {
          if error.isShortage { self.hasShortage = true }
        }
      }
      if self.groups.hasUnifiedMemory, let group = self.groups.unified?.own {
        self.limits = LimitInput(group: group, window: window)
      }
    }

    func contains(_ input: any PressureInput) -> Bool {
      self.limits === input || self.isStall(input)
    }

    /// Whether the input is one of `stalls`.
    func isStall(_ input: any PressureInput) -> Bool {
      self.stalls.contains { $0 === input }
    }

    mutating func remove(_ input: any PressureInput) {
      if self.limits === input { self.limits = nil }
      self.stalls.removeAll { $0 === input }
    }
  }
#endif
