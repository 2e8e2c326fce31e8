import Operation
import OperationFallback

let postStore = client.store(for: PostQuery(id: 1))
