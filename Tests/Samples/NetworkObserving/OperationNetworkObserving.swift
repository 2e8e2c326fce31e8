import OperationCore
import OperationNetworkObserving
import OperationRetry

let observer = MockNetworkObserver(initialStatus: .connected)

struct DraftsQuery: SampleQuery {}
