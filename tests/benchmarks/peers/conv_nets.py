"""Eleven convolution nets, in the structure of the nets that Caffe2's model zoo and torchvision published. Weights are random."""
from conv_writer import ConvNet

RESIDUAL = 0.4  # gain of the last convolution of a residual branch: sums grow by a sixth, not by a factor of two
LINEAR = 0.7    # gain of a convolution that no ReLU follows


def basic_block(net, x, name, channels, stride):
    y = net.conv_relu(x, name + '_conv1', channels, 3, stride=stride, pad=1, batch_norm=True)
    y = net.conv(y, name + '_conv2', channels, 3, pad=1, batch_norm=True, gain=RESIDUAL)
    if stride > 1 or x.shape[1] != channels:
        x = net.conv(x, name + '_shortcut', channels, 1, stride=stride, batch_norm=True, gain=LINEAR)
    return net.relu(net.add(y, x, name + '_sum'))


def bottleneck_block(net, x, name, channels, stride):
    """The variant "v1.5", whose 3x3 convolution has the stride."""
    y = net.conv_relu(x, name + '_conv1', channels, 1, batch_norm=True)
    y = net.conv_relu(y, name + '_conv2', channels, 3, stride=stride, pad=1, batch_norm=True)
    y = net.conv(y, name + '_conv3', 4 * channels, 1, batch_norm=True, gain=RESIDUAL)
    if stride > 1 or x.shape[1] != 4 * channels:
        x = net.conv(x, name + '_shortcut', 4 * channels, 1, stride=stride, batch_norm=True, gain=LINEAR)
    return net.relu(net.add(y, x, name + '_sum'))


def resnet(net, block, depths):
    x = net.conv_relu(net.image(), 'conv1', 64, 7, stride=2, pad=3, batch_norm=True)
    x = net.max_pool(x, 'pool1', 3, 2, 1)
    for stage, depth in enumerate(depths):
        for number in range(depth):
            x = block(net, x, 'res%d_%d' % (stage + 2, number), 64 << stage, 2 if stage > 0 and number == 0 else 1)
    return net.softmax(net.fc(net.global_pool(x, 'pool5'), 'fc', 1000))


def resnet18(*args, **kwargs):
    return resnet(ConvNet(*args, **kwargs), basic_block, [2, 2, 2, 2])


def resnet50(*args, **kwargs):
    return resnet(ConvNet(*args, **kwargs), bottleneck_block, [3, 4, 6, 3])


def squeezenet(*args, **kwargs):
    """Version 1.1."""
    net = ConvNet(*args, **kwargs)
    x = net.conv_relu(net.image(), 'conv1', 64, 3, stride=2)
    x = net.max_pool(x, 'pool1', 3, 2, (0, 0))
    for number, (squeeze, expand) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]):
        name = 'fire%d' % (number + 2)
        if number in (2, 4):
            x = net.max_pool(x, 'pool%d' % (number + 1), 3, 2)
        x = net.conv_relu(x, name + '_squeeze1x1', squeeze, 1)
        parts = [net.conv_relu(x, name + '_expand1x1', expand, 1), net.conv_relu(x, name + '_expand3x3', expand, 3, pad=1)]
        x = net.concat(parts, name + '_concat')
    x = net.conv_relu(net.dropout(x), 'conv10', 1000, 1)
    return net.softmax(net.global_pool(x, 'pool10'))


def mobilenet_v2(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    activate = lambda x, name, channels, kernel, **rest: net.relu(net.conv(x, name, channels, kernel, batch_norm=True, **rest), most=6)
    x = activate(net.image(), 'conv1', 32, 3, stride=2, pad=1)
    count = 0
    for expansion, channels, repeats, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                                 (6, 320, 1, 1)]:
        for number in range(repeats):
            count += 1
            name, width, step = 'block%d' % count, x.shape[1] * expansion, stride if number == 0 else 1
            y = activate(x, name + '_expand', width, 1) if expansion > 1 else x
            y = activate(y, name + '_depthwise', width, 3, stride=step, pad=1, group=width)
            same = step == 1 and x.shape[1] == channels
            y = net.conv(y, name + '_project', channels, 1, batch_norm=True, gain=RESIDUAL if same else LINEAR)
            x = net.add(y, x, name + '_sum') if same else y
    x = activate(x, 'conv_last', 1280, 1)
    return net.softmax(net.fc(net.global_pool(x, 'pool'), 'fc', 1000))


def shufflenet(*args, **kwargs):
    """ShuffleNet v1 with three groups."""
    net, group = ConvNet(*args, **kwargs), 3
    x = net.conv_relu(net.image(), 'conv3_0', 24, 3, stride=2, pad=1, batch_norm=True)
    x = net.max_pool(x, 'pool_0', 3, 2, 1)
    count = 0
    for channels, repeats in [(240, 4), (480, 8), (960, 4)]:
        for number in range(repeats):
            name, first = 'block%d' % count, number == 0
            count += 1
            out = channels - x.shape[1] if first else channels
            inner = channels // 4
            y = net.conv_relu(x, name + '_gconv1', inner, 1, group=group, batch_norm=True)
            y = net.shuffle(y, name + '_shuffle', group)
            y = net.conv(y, name + '_gconv3', inner, 3, stride=2 if first else 1, pad=1, group=inner, batch_norm=True, gain=LINEAR)
            y = net.conv(y, name + '_gconv1b', out, 1, group=group, batch_norm=True, gain=LINEAR if first else RESIDUAL)
            y = net.concat([y, net.average_pool(x, name + '_pool', 3, 2, 1)], name) if first else net.add(y, x, name)
            x = net.relu(y)
    return net.softmax(net.fc(net.average_pool(x, 'final_avg', 7, 1), 'pred', 1000, gain=0.5))


def densenet121(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    x = net.conv_relu(net.image(), 'conv1', 64, 7, stride=2, pad=3, batch_norm=True)
    x = net.max_pool(x, 'pool1', 3, 2, 1)
    for stage, repeats in enumerate([6, 12, 24, 16]):
        for number in range(repeats):
            name = 'conv%d_%d' % (stage + 2, number + 1)
            y = net.relu(net.normalize(x, name + '_bn'))
            y = net.conv_relu(y, name + '_x1', 128, 1, batch_norm=True)
            y = net.conv(y, name + '_x2', 32, 3, pad=1, bias=False)
            x = net.concat([x, y], 'concat_%d_%d' % (stage + 2, number + 1))
        x = net.relu(net.normalize(x, 'conv%d_blk_bn' % (stage + 2)))
        if stage < 3:
            x = net.conv(x, 'conv%d_blk' % (stage + 2), x.shape[1] // 2, 1, bias=False)
            x = net.average_pool(x, 'pool%d' % (stage + 2), 2, 2)
    return net.softmax(net.fc(net.global_pool(x, 'pool5'), 'fc6', 1000))


def inception_block(net, x, name, one, three_reduce, three, five_reduce, five, projection):
    parts = [net.conv_relu(x, name + '_1x1', one, 1)]
    y = net.conv_relu(x, name + '_3x3_reduce', three_reduce, 1)
    parts.append(net.conv_relu(y, name + '_3x3', three, 3, pad=1))
    y = net.conv_relu(x, name + '_5x5_reduce', five_reduce, 1)
    parts.append(net.conv_relu(y, name + '_5x5', five, 5, pad=2))
    parts.append(net.conv_relu(net.max_pool(x, name + '_pool', 3, 1, 1), name + '_pool_proj', projection, 1))
    return net.concat(parts, name + '_output')


def googlenet(*args, **kwargs):
    """Inception v1."""
    net = ConvNet(*args, **kwargs)
    x = net.conv_relu(net.image(), 'conv1', 64, 7, stride=2, pad=3)
    x = net.lrn(net.max_pool(x, 'pool1', 3, 2, (0, 1)), 'norm1')
    x = net.conv_relu(net.conv_relu(x, 'conv2_reduce', 64, 1), 'conv2', 192, 3, pad=1)
    x = net.max_pool(net.lrn(x, 'norm2'), 'pool2', 3, 2, (0, 1))
    for name, sizes in [('3a', (64, 96, 128, 16, 32, 32)), ('3b', (128, 128, 192, 32, 96, 64)), ('pool3', None),
                        ('4a', (192, 96, 208, 16, 48, 64)), ('4b', (160, 112, 224, 24, 64, 64)), ('4c', (128, 128, 256, 24, 64, 64)),
                        ('4d', (112, 144, 288, 32, 64, 64)), ('4e', (256, 160, 320, 32, 128, 128)), ('pool4', None),
                        ('5a', (256, 160, 320, 32, 128, 128)), ('5b', (384, 192, 384, 48, 128, 128))]:
        x = net.max_pool(x, name, 3, 2, (0, 1)) if sizes is None else inception_block(net, x, 'inception_' + name, *sizes)
    x = net.dropout(net.average_pool(x, 'pool5', 7, 1))
    return net.softmax(net.fc(x, 'classifier', 1000))


def normalized_inception(net, x, name, one, three, double, pool, projection):
    """A block of Inception v2. Without `one`, it halves the size of the image."""
    stride = 2 if one == 0 else 1
    conv = lambda x, part, channels, kernel, **rest: net.conv_relu(x, name + '_' + part, channels, kernel, batch_norm=True, **rest)
    parts = [conv(x, '1x1', one, 1)] if one else []
    parts.append(conv(conv(x, '3x3_reduce', three[0], 1), '3x3', three[1], 3, stride=stride, pad=1))
    y = conv(conv(x, 'double3x3_reduce', double[0], 1), 'double3x3a', double[1], 3, pad=1)
    parts.append(conv(y, 'double3x3b', double[1], 3, stride=stride, pad=1))
    if stride == 2:
        parts.append(net.max_pool(x, name + '_pool', 3, 2, (0, 1)))
    else:
        parts.append(conv(net.pool(x, pool, name + '_pool', 3, 1, 1), 'pool_proj', projection, 1))
    return net.concat(parts, name + '_output')


def inception_v2(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    x = net.conv_relu(net.image(), 'conv1', 64, 7, stride=2, pad=3, batch_norm=True)
    x = net.conv_relu(net.max_pool(x, 'pool1', 3, 2, (0, 1)), 'conv2_reduce', 64, 1, batch_norm=True)
    x = net.conv_relu(x, 'conv2', 192, 3, pad=1, batch_norm=True)
    x = net.max_pool(x, 'pool2', 3, 2, (0, 1))
    average, most = 'AveragePool', 'MaxPool'
    for name, sizes in [('3a', (64, (64, 64), (64, 96), average, 32)), ('3b', (64, (64, 96), (64, 96), average, 64)),
                        ('3c', (0, (128, 160), (64, 96), most, 0)), ('4a', (224, (64, 96), (96, 128), average, 128)),
                        ('4b', (192, (96, 128), (96, 128), average, 128)), ('4c', (160, (128, 160), (128, 160), average, 128)),
                        ('4d', (96, (128, 192), (160, 192), average, 128)), ('4e', (0, (128, 192), (192, 256), most, 0)),
                        ('5a', (352, (192, 320), (160, 224), average, 128)), ('5b', (352, (192, 320), (192, 224), most, 128))]:
        x = normalized_inception(net, x, 'inception_' + name, *sizes)
    return net.softmax(net.fc(net.average_pool(x, 'pool5', 7, 1), 'fc', 1000))


def classifier(net, x, widths):
    """The fully connected end of the older nets."""
    for number, width in enumerate(widths):
        x = net.dropout(net.relu(net.fc(x, 'fc%d' % (number + 6), width)))
    return net.softmax(net.fc(x, 'fc%d' % (len(widths) + 6), 1000, gain=0.5))


def vgg19(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    x = net.image()
    for stage, (channels, repeats) in enumerate([(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]):
        for number in range(repeats):
            x = net.conv_relu(x, 'conv%d_%d' % (stage + 1, number + 1), channels, 3, pad=1)
        x = net.max_pool(x, 'pool%d' % (stage + 1), 2, 2)
    return classifier(net, x, [4096, 4096])


def alexnet(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    x = net.lrn(net.conv_relu(net.image(), 'conv1', 96, 11, stride=4), 'norm1')
    x = net.lrn(net.conv_relu(net.max_pool(x, 'pool1', 3, 2), 'conv2', 256, 5, pad=2, group=2), 'norm2')
    x = net.conv_relu(net.max_pool(x, 'pool2', 3, 2), 'conv3', 384, 3, pad=1)
    x = net.conv_relu(x, 'conv4', 384, 3, pad=1, group=2)
    x = net.conv_relu(x, 'conv5', 256, 3, pad=1, group=2)
    return classifier(net, net.max_pool(x, 'pool5', 3, 2, (0, 1)), [4096, 4096])


def zfnet512(*args, **kwargs):
    net = ConvNet(*args, **kwargs)
    x = net.lrn(net.conv_relu(net.image(), 'conv1', 96, 7, stride=2), 'norm1')
    x = net.lrn(net.conv_relu(net.max_pool(x, 'pool1', 3, 2), 'conv2', 256, 5, stride=2), 'norm2')
    x = net.max_pool(x, 'pool2', 3, 2)
    for number, channels in enumerate([512, 1024, 512]):
        x = net.conv_relu(x, 'conv%d' % (number + 3), channels, 3, pad=1)
    return classifier(net, net.max_pool(x, 'pool5', 3, 2), [4096, 4096])


CONV_NETS = {
    'alexnet': alexnet, 'densenet121': densenet121, 'googlenet': googlenet, 'inception_v2': inception_v2, 'mobilenet_v2': mobilenet_v2,
    'resnet18': resnet18, 'resnet50': resnet50, 'shufflenet': shufflenet, 'squeezenet': squeezenet, 'vgg19': vgg19, 'zfnet512': zfnet512,
}
